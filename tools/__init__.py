"""Tools of this repository that no package ships."""
