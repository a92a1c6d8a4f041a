"""What people read: quantities by MuJoCo's names, contacts, one environment whole, the table of fields."""
