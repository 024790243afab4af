"""Known failures: a file that lets a gate pass while they last, and that can't rot unseen."""
