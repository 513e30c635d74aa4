extension EntityLookup {
  /// The `data` of the query's response, as the phone shows the entities.
  ///
  /// - Returns: nil if something that the query selects is not on the phone.
  func data(_ db: LocalDatabase, variables: JSONValue) throws -> JSONValue? {
    guard let id = id(in: variables) else { return nil }
    // The root has the entity under the name that its field has in the response.
    var root: [String: JSONValue] = [:]
    for field in selection {
      if case .object(let stored, _) = field.value { root[stored] = .string(id) }
    }
    return try Resolver(db: db, variables: variables).fields(selection, of: root)
  }

  private func id(in variables: JSONValue) -> String? {
    var value = variables
    for name in key {
      guard let inner = value[name] else { return nil }
      value = inner
    }
    let parts =
      value.object.map { members in keyFields.map { members[$0].flatMap(Self.text) } }
      ?? [Self.text(value)]
    let texts = parts.compactMap { $0 }
    guard texts.count == keyFields.count else { return nil }
    return texts.count == 1 ? texts[0] : joinedKey(texts)
  }

  /// The text of a field of a key; nil for a value that cannot be one.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .number(let number): number.digits
    case .bool(let flag): String(flag)
    case .null, .array, .object: nil
    }
  }
}

/// Reads selections of entities. All results are nil if something selected is not on the phone.
private struct Resolver {
  let db: LocalDatabase
  let variables: JSONValue

  func fields(
    _ fields: [EntityLookup.Field], of members: [String: JSONValue]
  ) throws -> JSONValue? {
    var result: [String: JSONValue] = [:]
    for field in fields where field.conditions.allSatisfy(holds) {
      guard let value = try value(of: field, in: members) else { return nil }
      result[field.name] = value
    }
    return .object(result)
  }

  private func holds(_ condition: EntityLookup.Condition) -> Bool {
    let value = variables[condition.variable].map { $0 == true } ?? condition.fallback
    return value == condition.isTrue
  }

  private func value(
    of field: EntityLookup.Field, in members: [String: JSONValue]
  ) throws -> JSONValue? {
    switch field.value {
    case .leaf(let stored): members[stored]
    case .typename(let typename): typename.map(JSONValue.string) ?? members["__typename"]
    case .object(let stored, let objects): try members[stored].flatMap { try object($0, objects) }
    case .unknown: nil
    }
  }

  /// The selection of a value in the form of entities: null, a list, the id of an entity, its type and id,
  /// or an object without a key.
  private func object(
    _ value: JSONValue, _ objects: [EntityLookup.Object]
  ) throws -> JSONValue? {
    switch value {
    case .null: return .null
    case .array(let elements):
      var list: [JSONValue] = []
      for element in elements {
        guard let element = try object(element, objects) else { return nil }
        list.append(element)
      }
      return .array(list)
    case .string(let id):
      guard let type = Self.onlyType(objects) else { return nil }
      return try entity(type, id, objects)
    case .object(let members):
      if members.count == 2, let type = members["type"]?.string, let id = members["id"]?.string {
        return try entity(type, id, objects)
      }
      guard let type = members["__typename"]?.string ?? Self.onlyType(objects) else { return nil }
      return try fields(of: type, objects, in: members)
    case .bool, .number: return nil
    }
  }

  private func entity(
    _ type: String, _ id: String, _ objects: [EntityLookup.Object]
  ) throws -> JSONValue? {
    guard let members = try db.entity(type, key: id)?.object, members["_deleted"] != true else {
      return nil
    }
    return try fields(of: type, objects, in: members)
  }

  private func fields(
    of type: String, _ objects: [EntityLookup.Object], in members: [String: JSONValue]
  ) throws -> JSONValue? {
    guard let object = objects.first(where: { $0.types.contains(type) }) else { return nil }
    return try fields(object.fields, of: members)
  }

  /// The type that all objects at a position have.
  private static func onlyType(_ objects: [EntityLookup.Object]) -> String? {
    guard let first = objects.first, objects.count == 1, first.types.count == 1 else { return nil }
    return first.types[0]
  }
}
