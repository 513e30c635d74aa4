import LosslessJSON
package import Model

extension RegisteredOperation {
  /// The result that the query has if upstream returns the stored entity that a call names.
  package struct Lookup: Sendable {
    package let key: EntityKey
    /// The root fields as one JSON object, as ``Model/ResultSnapshot/root``.
    package let root: [UInt8]
  }

  /// Returns the entity that a call looks up, see ``lookup``; nil if the variables name none, or
  /// conditions leave out the root field.
  package func lookup(with variables: Variables) -> Lookup? {
    guard let lookup, case .entity(let key) = resolve(lookup, with: variables),
      let object = selection(for: variables).single
    else { return nil }
    var writer = JSONWriter()
    writer.beginObject()
    var count = 0
    for field in object.fields {
      if field.name == StoredForm.typenameMember {
        writer.name(field.storageName)
        writer.string(object.typename)
        continue
      }
      guard case .object(let inner) = field.value, field.listDepth == 0,
        inner.types[key.type] != nil, field.lookup.map({ $0 == key }) ?? true
      else { return nil }
      count += 1
      writer.name(field.storageName)
      writer.value(JSONValue.storedReference(to: key))
    }
    writer.endObject()
    return count == 1 ? Lookup(key: key, root: writer.bytes) : nil
  }
}
