import Model

/// Where a JSON value of a variable stands: in a body, or as the text of one parameter.
enum ValuePlace {
  case body(JSONPointer)
  /// The second part is the place inside the parameter's JSON value.
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
