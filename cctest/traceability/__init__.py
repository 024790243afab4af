"""What ties the drafts to what is tested: sentence, rule, vectors and checks, mutants; and what isn't."""
