"""C++ programs brought down to what C programs are made of, before any engine sees them."""
