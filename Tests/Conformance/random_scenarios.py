def play(world, chance):
    raise NotImplementedError
