package import LosslessJSON

extension Schema {
  /// Builds a schema from the answer to an introspection query: the whole answer, its `data`, or
  /// the value of `__schema`.
  ///
  /// Members that a server's version lacks are taken as absent. The schema is not validated
  /// (servers publish what a strict reading refuses): `validate()` tells.
  package static func build(introspection answer: JSONValue) throws(Faults) -> Schema {
    var reader = IntrospectionReader()
    let data = answer["data"] ?? answer
    let schema = reader.schema(data["__schema"] ?? data)
    guard reader.faults.isEmpty, let schema else { throw Faults(reader.faults) }
    return schema
  }
}
