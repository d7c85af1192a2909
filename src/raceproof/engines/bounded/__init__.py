"""Engine `bounded`: lazy sequentialization with a race monitor, by bounded model checking."""
