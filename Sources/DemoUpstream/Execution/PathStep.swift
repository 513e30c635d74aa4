/// A step of an error's path: a member of the answer or a place in a list.
enum PathStep: Sendable, Hashable {
  case key(String)
  case index(Int)
}
