import Model

extension [SelectedField] {
  /// Adds a field, or merges its selection with that of the field that has its response name.
  ///
  /// - Returns: a message for each response name that two different fields have, here or in their
  ///   selections; the first one keeps it.
  mutating func merge(_ field: SelectedField) -> [String] {
    guard let known = firstIndex(where: { $0.responseName == field.responseName }) else {
      append(field)
      return []
    }
    let first = self[known]
    guard first.storageName == field.storageName else {
      let arguments = first.name == field.name ? " with other arguments" : ""
      return ["\(field.responseName) is already the response name of \(first.name)\(arguments)."]
    }
    var conflicts: [String] = []
    self[known] = first.merging(field, &conflicts)
    return conflicts
  }
}

extension SelectedField {
  /// Returns the field with the selections of both.
  fileprivate func merging(_ other: SelectedField, _ conflicts: inout [String]) -> SelectedField {
    guard case .object(let own) = value, case .object(let more) = other.value else { return self }
    var types: [ObjectSelection] = []
    for object in own.types.values.sorted(by: { $0.type < $1.type }) {
      var fields = object.fields
      for field in more.types[object.type]?.fields ?? [] { conflicts += fields.merge(field) }
      types.append(
        ObjectSelection(
          type: object.type, typename: object.typename, fields: fields, key: object.key))
    }
    return SelectedField(
      responseName: responseName, name: name, storageName: storageName,
      value: .object(
        FieldSelection(types: types, typenameResponseName: own.typenameResponseName)))
  }
}
