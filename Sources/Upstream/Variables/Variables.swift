package import LosslessJSON
package import Model

/// The coerced variables of one call.
package struct Variables: Sendable {
  /// The JSON object to send: the given variables, with original digits.
  package let json: String
  /// The variables with defaults applied, keys sorted and numbers canonical: equal calls have equal
  /// texts. It is ``ResultKey/variables``.
  ///
  /// Computed on each access, because mutations never need it.
  package var canonical: String {
    JSONValue.object(values.map { JSONMember($0.key, $0.value) }).canonicalText
  }
  /// The values with defaults applied; a variable that is neither given nor has a default is
  /// absent.
  let values: [String: JSONValue]

  /// No variables at all.
  package static let none = Variables(json: "{}", values: [:])

  /// The value at a path such as `input.id`; nil if absent.
  package func value(at path: [String]) -> JSONValue? {
    guard let first = path.first, var value = values[first] else { return nil }
    for name in path.dropFirst() {
      guard let member = value[name] else { return nil }
      value = member
    }
    return value
  }

  /// Returns the variables with some of the given strings replaced by others: the same as coercing the
  /// replaced JSON again, since each type that accepts one string of a client's choice accepts any.
  ///
  /// - Parameters:
  ///   - given: ``json``, parsed.
  ///   - replace: replaces strings at any depth of a value, and nothing else. The strings must not be
  ///     enum values.
  package func replacingStrings(
    in given: JSONValue, _ replace: (JSONValue) -> JSONValue
  ) -> Variables {
    var values = values
    for member in given.members ?? [] {
      values[member.name] = values[member.name].map {
        Self.replaced($0, given: member.value, replace)
      }
    }
    return Variables(json: replace(given).text, values: values)
  }

  /// Replaces strings in a value with defaults applied; the defaults, which were not given, stay.
  private static func replaced(
    _ full: JSONValue, given: JSONValue, _ replace: (JSONValue) -> JSONValue
  ) -> JSONValue {
    switch (full, given) {
    case (.array(let values), .array(let elements)) where values.count == elements.count:
      return .array(zip(values, elements).map { replaced($0, given: $1, replace) })
    case (.object(let members), .object(let parts)):
      // The given fields are first, in the given order; the defaults follow.
      let replacements = zip(members, parts).map { member, part in
        JSONMember(member.name, replaced(member.value, given: part.value, replace))
      }
      return .object(replacements + members.dropFirst(parts.count))
    default:
      return replace(full)
    }
  }
}

/// All faults of a call's variables; never empty.
package struct VariableFaults: Error, Hashable, Sendable {
  /// Each with its parameter or JSON pointer.
  package let all: [Failure.Detail]

  package init(_ all: [Failure.Detail]) {
    self.all = all
  }
}
