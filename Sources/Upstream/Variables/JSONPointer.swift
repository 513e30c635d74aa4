import Model

/// A place in a JSON text (RFC 6901). Its text is made only where something is said of the place.
indirect enum JSONPointer: Hashable {
  case root
  /// The place that a text names.
  case place(String)
  case member(of: JSONPointer, String)
  case element(of: JSONPointer, Int)

  var text: String {
    switch self {
    case .root: ""
    case .place(let text): text
    case .member(let container, let name): container.text.appending(pointerMember: name)
    case .element(let container, let index): "\(container.text)/\(index)"
    }
  }

  func appending(_ name: String) -> JSONPointer { .member(of: self, name) }

  func appending(_ index: Int) -> JSONPointer { .element(of: self, index) }
}
