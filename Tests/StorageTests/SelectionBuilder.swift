import Model

extension FieldSelection {
  /// A position of one type.
  static func of(_ type: String, _ fields: [SelectedField]) -> FieldSelection {
    FieldSelection(
      types: [ObjectSelection(type: type, fields: fields, key: nil)], typenameResponseName: nil)
  }

  /// `{ films { id title director { id name } } }`
  static var filmsWithDirectors: FieldSelection {
    .of("Query", [.object("films", .filmWithDirector)])
  }

  static var filmWithDirector: FieldSelection {
    .of("Film", [.leaf("id"), .leaf("title"), .object("director", .person)])
  }

  static var person: FieldSelection { .of("Person", [.leaf("id"), .leaf("name")]) }
}

extension SelectedField {
  static func leaf(_ name: String) -> SelectedField {
    SelectedField(responseName: name, name: name, storageName: name)
  }

  static func object(_ name: String, _ selection: FieldSelection) -> SelectedField {
    SelectedField(
      responseName: name, name: name, storageName: name, value: .object(selection))
  }
}
