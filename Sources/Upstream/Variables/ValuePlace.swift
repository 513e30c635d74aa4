import Model

/// A JSON Pointer (RFC 6901), whose text is built only when needed.
indirect enum JSONPointer: Hashable {
  case root
  /// The place with this text.
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

/// The location of a variable's JSON value: in a body, or in one parameter.
enum ValuePlace {
  case body(JSONPointer)
  /// The second value is the place inside the parameter's JSON value.
  case parameter(String, JSONPointer)

  func appending(_ name: String) -> ValuePlace {
    switch self {
    case .body(let pointer): .body(pointer.appending(name))
    case .parameter(let parameter, let pointer):
      .parameter(parameter, pointer.appending(name))
    }
  }

  func appending(_ index: Int) -> ValuePlace {
    switch self {
    case .body(let pointer): .body(pointer.appending(index))
    case .parameter(let parameter, let pointer):
      .parameter(parameter, pointer.appending(index))
    }
  }

  func detail(_ text: String) -> Failure.Detail {
    switch self {
    case .body(let pointer):
      Failure.Detail(place: .pointer(pointer.text), detail: text)
    case .parameter(let parameter, let pointer):
      Failure.Detail(
        place: .parameter(parameter),
        detail: pointer.text.isEmpty ? text : "\(pointer.text) \(text)")
    }
  }
}
