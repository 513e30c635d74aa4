import HTTPTypes

extension CallHeaders {
  var fields: HTTPFields {
    var fields = HTTPFields()
    for header in all { fields.append(header.name, header.value) }
    return fields
  }
}

extension HTTPFields {
  /// Appends a field; a name that is not valid is omitted.
  mutating func append(_ name: String, _ value: String) {
    guard let name = HTTPField.Name(name) else { return }
    append(HTTPField(name: name, value: value))
  }
}
