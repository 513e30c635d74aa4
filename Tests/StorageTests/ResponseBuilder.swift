import LosslessJSON
import Model

/// Builds normalised responses from plain JSON values.
struct ResponseBuilder {
  private var response: NormalisedResponse

  /// - Parameter horizon: the oldest call in flight; nil means that this one is.
  init(
    call: Int64, horizon: Int64? = nil, scope: Scope = .public, received: Timestamp? = nil
  ) {
    response = NormalisedResponse(
      call: CallNumber(call), horizon: CallNumber(horizon ?? call),
      received: received ?? Timestamp(milliseconds: 1000 + call), scope: scope)
  }

  func build() -> NormalisedResponse { response }

  /// Objects that carry a type name are embedded, so their fields merge.
  func entity(_ key: EntityKey, _ value: JSONValue) -> ResponseBuilder {
    var copy = self
    let fields = copy.fields(of: value)
    copy.response.entities.append(.init(key: key, fields: fields))
    return copy
  }

  func film(_ id: String, _ value: JSONValue) -> ResponseBuilder {
    var fields = value
    fields["id"] = .string(id)
    return entity(.film(id), fields)
  }

  func result(
    _ operation: String, variables: String = "{}", root: JSONValue, types: [String] = ["Film"],
    tags: [String] = [], pages: [ResultWrite.PageList] = [], errors: String? = nil
  ) -> ResponseBuilder {
    var copy = self
    let fields = copy.fields(of: root)
    copy.response.result = ResultWrite(
      key: ResultKey(operation: operation, variables: variables, scope: response.scope),
      root: fields, types: types, pages: pages, tags: tags, errors: errors.map { Array($0.utf8) })
    return copy
  }

  func deleting(_ key: EntityKey) -> ResponseBuilder {
    var copy = self
    copy.response.deletions.append(key)
    return copy
  }

  func absent(_ key: EntityKey, isAuthoritative: Bool = false) -> ResponseBuilder {
    var copy = self
    copy.response.absences.append(.init(key: key, isAuthoritative: isAuthoritative))
    return copy
  }

  func invalidating(_ target: InvalidationTarget) -> ResponseBuilder {
    var copy = self
    copy.response.invalidations.append(target)
    return copy
  }

  /// A mutation's response.
  func spanning(_ span: MutationSpan) -> ResponseBuilder {
    var copy = self
    copy.response.span = span
    return copy
  }

  func markingPublicCopies() -> ResponseBuilder {
    var copy = self
    copy.response.marksPublicCopies = true
    return copy
  }

  private mutating func fields(of value: JSONValue) -> [NormalisedResponse.Field] {
    (value.members ?? []).map { member in
      let start = response.bytes.count
      response.bytes += member.value.bytes
      return .init(
        name: member.name, range: start..<response.bytes.count, merges: member.value.isEmbedded)
    }
  }
}

extension JSONValue {
  fileprivate var isEmbedded: Bool {
    array.map { $0.contains(where: \.isEmbedded) } ?? (self["__typename"] != nil)
  }

  static func reference(_ key: EntityKey) -> JSONValue {
    ["$ref": [.string(key.type), .string(key.key)]]
  }
}
