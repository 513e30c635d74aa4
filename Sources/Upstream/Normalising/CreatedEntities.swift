import LosslessJSON
package import Model

/// Finds the entities in the response of a create mutation, to which temporary ids are mapped.
package enum CreatedEntities {
  /// The objects of a type nearest the response's root, in the response's order. Objects further
  /// inside are those they refer to, such as a film's sequel or a comment's parent.
  package static func keys(
    ofType type: String, in response: UpstreamResponse, selection: FieldSelection
  ) -> [EntityKey] {
    var level = response.data.map { [(node: $0, selection: selection)] } ?? []
    while !level.isEmpty {
      var found: [EntityKey] = []
      var next: [(node: JSONNode, selection: FieldSelection)] = []
      for (node, selection) in level {
        guard let object = concrete(node, selection) else { continue }
        if object.type == type, let key = key(of: node, object), !found.contains(key) {
          found.append(key)
        }
        for field in object.fields {
          guard case .object(let inner) = field.value, let value = node[field.responseName] else {
            continue
          }
          next += objects(in: value).map { ($0, inner) }
        }
      }
      if !found.isEmpty { return found }
      level = next
    }
    return []
  }

  private static func objects(in value: JSONNode) -> [JSONNode] {
    switch value.kind {
    case .object: [value]
    case .array: value.elements.flatMap(objects)
    default: []
    }
  }

  private static func concrete(
    _ node: JSONNode, _ selection: FieldSelection
  ) -> ObjectSelection? {
    guard let name = selection.typenameResponseName else { return selection.single }
    return node[name]?.string.flatMap { selection.object(typename: $0) }
  }

  private static func key(of node: JSONNode, _ object: ObjectSelection) -> EntityKey? {
    guard let fields = object.key else { return nil }
    let texts = fields.compactMap { field in
      node[field.responseName].flatMap { EntityKeyRule.text(of: JSONValue($0), field.canonical) }
    }
    return texts.count == fields.count ? EntityKey(type: object.type, fields: texts) : nil
  }
}
