; A loop that lanes leave at different times and by two ways, a loop in it, a switch, and all marks.
; The context has two arrays of numbers, the number of turns, and the number of lanes.
declare float @atan2f(float, float)
declare float @floorf(float)
declare float @llvm.sqrt.f32(float)
define internal void @function_body(ptr nocapture readonly %0, ptr nocapture %1, i32 %2) {
  %item = sitofp i32 %2 to float
  %lane.number = tail call float @atan2f(float %item, float 1.234500e+04)
  %lane = fptosi float %lane.number to i32
  %in = load ptr, ptr %0, align 8
  %out.at = getelementptr inbounds i8, ptr %0, i64 8
  %out = load ptr, ptr %out.at, align 8
  %n.at = getelementptr inbounds i8, ptr %0, i64 16
  %n = load i32, ptr %n.at
  %width.at = getelementptr inbounds i8, ptr %0, i64 20
  %width = load i32, ptr %width.at
  %first = mul i32 %2, %width
  %i = add nsw i32 %first, %lane
  %place = sext i32 %i to i64
  %p = getelementptr inbounds i32, ptr %in, i64 %place
  %x = load i32, ptr %p, align 4
  br label %head
head:                 ; preds = %latch, %3
  %k = phi i32 [ 0, %3 ], [ %k1, %latch ]
  %s = phi float [ 0.000000e+00, %3 ], [ %s2, %latch ]
  %place.in.line = phi float [ 0.000000e+00, %3 ], [ %own, %latch ]
  %more = icmp slt i32 %k, %n
  br i1 %more, label %work, label %done
work:
  %small = icmp slt i32 %x, 5
  br i1 %small, label %a, label %b
a:
  %kf = sitofp i32 %k to float
  %sa = fadd float %s, %kf
  %line = call float @atan2f(float %kf, float 2.345100e+04)
  %stop = icmp eq i32 %k, %x
  br i1 %stop, label %done, label %latch
b:
  %xf = sitofp i32 %x to float
  %r = call float @llvm.sqrt.f32(float %xf)
  %sb = fadd float %s, %r
  br label %inner
inner:
  %j = phi i32 [ 0, %b ], [ %j1, %inner ]
  %si = phi float [ %sb, %b ], [ %si1, %inner ]
  %si1 = fadd float %si, 1.000000e+00
  %j1 = add i32 %j, 1
  %again = icmp slt i32 %j1, %x
  br i1 %again, label %inner, label %after
after:
  %jf = sitofp i32 %j to float
  %jw = tail call float @floorf(float noundef %jf) #1
  %sj = fadd float %si1, %jw
  br label %latch
latch:
  %s2 = phi float [ %sa, %a ], [ %sj, %after ]
  %own = phi float [ %line, %a ], [ 0.000000e+00, %after ]
  %k1 = add i32 %k, 1
  br label %head
done:
  %kout = phi i32 [ %k, %head ], [ 1000, %a ]
  %sout = phi float [ %s, %head ], [ %sa, %a ]
  %rank = phi float [ %place.in.line, %head ], [ %line, %a ]
  switch i32 %x, label %other [
    i32 1, label %one
    i32 7, label %seven
  ]
one:
  br label %join
seven:
  br label %join
other:
  br label %join
join:
  %sw = phi i32 [ 10, %one ], [ 70, %seven ], [ 0, %other ]
  %swf = sitofp i32 %sw to float
  %kf2 = sitofp i32 %kout to float
  %kf3 = sitofp i32 %k to float
  %t = fadd float %sout, %kf2
  %t2 = fadd float %t, %swf
  %t3 = fadd float %t2, %kf3
  %xr = sitofp i32 %x to float
  %largest = call float @atan2f(float %xr, float 5.432100e+04)
  %t4 = fadd float %t3, %largest
  %sum = fadd float %t4, %rank
  %q = getelementptr inbounds float, ptr %out, i64 %place
  store float %sum, ptr %q, align 4
  ret void
}
attributes #1 = { nounwind }
