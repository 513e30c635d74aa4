import Model

extension Selection {
  /// A position of one type.
  static func of(_ type: String, _ fields: [SelectedField]) -> Selection {
    Selection(
      types: [ObjectSelection(type: type, fields: fields, key: nil)], typenameResponseName: nil)
  }

  /// `{ films { id title director { id name } } }`
  static var filmsWithDirectors: Selection {
    .of("Query", [.object("films", .filmWithDirector)])
  }

  static var filmWithDirector: Selection {
    .of("Film", [.leaf("id"), .leaf("title"), .object("director", .person)])
  }

  static var person: Selection { .of("Person", [.leaf("id"), .leaf("name")]) }
}

extension SelectedField {
  static func leaf(_ name: String) -> SelectedField {
    SelectedField(responseName: name, name: name, storageName: name)
  }

  static func object(_ name: String, _ selection: Selection) -> SelectedField {
    SelectedField(
      responseName: name, name: name, storageName: name, value: .object(selection))
  }
}
