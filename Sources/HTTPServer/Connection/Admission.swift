/// Whether a connection has one of the places that are bounded by the cap on all.
enum Admission {
  /// It is served.
  case admitted
  /// All are taken, and it is not known yet whether somebody idle can go; until then nothing is
  /// read.
  case waiting(isOpen: Bool)
  /// There is none for it: it is told so, and that is all.
  case refused
  /// It had one, and had to make room.
  case shed
}
