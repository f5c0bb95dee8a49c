"""Side-by-side measurements of the product, its peers and the limits of the machine."""
