import LosslessJSON

/// Compares two OpenAPI documents, whatever wrote them: paths, parameters, bodies and successful responses.
struct OpenAPIComparison {
  private static let methods = [
    "get", "head", "post", "put", "patch", "delete", "options", "query",
  ]
  /// The maximum depth of schemas that are compared.
  private static let depthMax = 48

  private let old: OpenAPIReader
  private let new: OpenAPIReader
  private var changes = InterfaceChanges()
  /// References that are being compared: schemas can contain themselves.
  private var open: Set<String> = []
  /// How many more schemas are compared: many paths can lead to the same ones.
  private var remaining = 500_000

  static func changes(from old: JSONValue, to new: JSONValue) -> InterfaceChanges {
    var comparison = OpenAPIComparison(old: old, new: new)
    comparison.run()
    return comparison.changes
  }

  private init(old: JSONValue, new: JSONValue) {
    self.old = OpenAPIReader(document: old)
    self.new = OpenAPIReader(document: new)
  }

  private mutating func run() {
    let paths = new.document["paths"]?.members ?? []
    let byShape = Dictionary(
      paths.map { (Self.shape(of: $0.name), $0) }, uniquingKeysWith: { first, _ in first })
    var known: Set<String> = []
    for path in old.document["paths"]?.members ?? [] {
      let before = old.resolve(path.value)
      let after = byShape[Self.shape(of: path.name)].map { new.resolve($0.value) }
      known.insert(Self.shape(of: path.name))
      for method in Self.methods {
        guard let operation = before[method] else { continue }
        let subject = "\(method.uppercased()) \(path.name)"
        guard let other = after?[method] else {
          changes.add(.breaking, subject, "it is removed")
          continue
        }
        compare(
          subject, operation, before["parameters"], other, after?["parameters"])
      }
    }
    for path in paths where !known.contains(Self.shape(of: path.name)) {
      changes.add(.note, path.name, "the path is new")
    }
  }

  /// A path without the names of its parameters, which make no difference to clients.
  private static func shape(of path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("{") && $0.hasSuffix("}") ? "{}" : String($0) }.joined(separator: "/")
  }

  // MARK: Operations

  private mutating func compare(
    _ subject: String, _ before: JSONValue, _ shared: JSONValue?, _ after: JSONValue,
    _ otherShared: JSONValue?
  ) {
    if let id = before["operationId"]?.string, let other = after["operationId"]?.string, id != other
    {
      changes.add(.note, subject, "operationId was \(id) and is \(other)")
    }
    compareParameters(
      subject, parameters(old, shared, before), parameters(new, otherShared, after))
    compareBodies(subject, before["requestBody"], after["requestBody"])
    compareResponses(subject, before["responses"], after["responses"])
  }

  /// Parameters by place and name; those in the path are found by their position instead.
  private func parameters(
    _ reader: OpenAPIReader, _ shared: JSONValue?, _ operation: JSONValue
  ) -> [(key: String, value: JSONValue)] {
    var result: [(key: String, value: JSONValue)] = []
    var positions = 0
    for value in (shared?.array ?? []) + (operation["parameters"]?.array ?? []) {
      let parameter = reader.resolve(value)
      guard let place = parameter["in"]?.string, let name = parameter["name"]?.string else {
        continue
      }
      var key = "\(place) parameter \(place == "header" ? name.lowercased() : name)"
      if place == "path" {
        positions += 1
        key = "path parameter \(positions)"
      }
      result.removeAll { $0.key == key }
      result.append((key, parameter))
    }
    return result
  }

  private mutating func compareParameters(
    _ subject: String, _ before: [(key: String, value: JSONValue)],
    _ after: [(key: String, value: JSONValue)]
  ) {
    for (key, parameter) in before {
      guard let other = after.first(where: { $0.key == key })?.value else {
        // A header that is not read any more changes nothing for those who send it.
        let isHeader = key.hasPrefix("header")
        changes.add(isHeader ? .note : .breaking, subject, "the \(key) is removed")
        continue
      }
      if parameter["required"] != true, other["required"] == true {
        changes.add(.breaking, subject, "the \(key) is now required")
      }
      compareInput("\(subject): \(key)", Self.schema(of: parameter), Self.schema(of: other))
    }
    for (key, parameter) in after where !before.contains(where: { $0.key == key }) {
      let isRequired = parameter["required"] == true
      changes.add(
        isRequired ? .breaking : .note, subject,
        isRequired ? "the new \(key) is required" : "the \(key) is new")
    }
  }

  private static func schema(of parameter: JSONValue) -> JSONValue {
    parameter["schema"]?["contentSchema"] ?? parameter["schema"]
      ?? parameter["content"]?.members?.first?.value["schema"] ?? .object([])
  }

  private mutating func compareBodies(
    _ subject: String, _ before: JSONValue?, _ after: JSONValue?
  ) {
    let other = after.map(new.resolve)
    guard let before = before.map(old.resolve) else {
      if other?["required"] == true { changes.add(.breaking, subject, "a body is now required") }
      return
    }
    guard let other else {
      changes.add(.breaking, subject, "it takes no body any more")
      return
    }
    if before["required"] != true, other["required"] == true {
      changes.add(.breaking, subject, "the body is now required")
    }
    for content in before["content"]?.members ?? [] {
      guard let present = other["content"]?[content.name] else {
        changes.add(.breaking, subject, "a body of type \(content.name) is no longer accepted")
        continue
      }
      compareInput(
        "\(subject): body", content.value["schema"] ?? .object([]),
        present["schema"] ?? .object([]))
    }
  }

  private mutating func compareResponses(
    _ subject: String, _ before: JSONValue?, _ after: JSONValue?
  ) {
    for response in before?.members ?? [] where response.name.hasPrefix("2") {
      guard let present = after?[response.name] ?? after?["2XX"] else {
        changes.add(.breaking, subject, "the response \(response.name) is removed")
        continue
      }
      let other = new.resolve(present)
      for content in old.resolve(response.value)["content"]?.members ?? [] {
        guard let now = other["content"]?[content.name] else {
          changes.add(
            .breaking, subject, "the response \(response.name) is no longer \(content.name)")
          continue
        }
        compareOutput(
          "\(subject): \(response.name)", content.value["schema"] ?? .object([]),
          now["schema"] ?? .object([]))
      }
    }
  }

  // MARK: Schemas

  /// Calls `body` unless the same pair of references is being compared already, or the schemas are too deep.
  private mutating func entering(
    _ before: JSONValue, _ after: JSONValue, _ isInput: Bool, _ place: String,
    _ body: (inout OpenAPIComparison) -> Void
  ) {
    remaining -= 1
    if remaining == 0 {
      changes.add(.note, place, "the rest is not compared: the schemas are too large")
    }
    let depth = place.utf8.count { byte in ".[<".utf8.contains(byte) }
    guard remaining > 0, depth < Self.depthMax else { return }
    guard let from = before["$ref"]?.string else { return body(&self) }
    let pair = "\(isInput) \(from) \(after["$ref"]?.string ?? "")"
    guard open.insert(pair).inserted else { return }
    body(&self)
    open.remove(pair)
  }

  private mutating func compareInput(_ place: String, _ before: JSONValue, _ after: JSONValue) {
    entering(before, after, true, place) { comparison in
      comparison.compareInput(
        place, comparison.old.schema(before), comparison.new.schema(after))
    }
  }

  private mutating func compareInput(_ place: String, _ old: OpenAPISchema, _ new: OpenAPISchema) {
    if new.isAny { return }
    if old.isNullable, !new.isNullable, !old.isAny {
      changes.add(.breaking, place, "it can no longer be null")
    }
    compareTypes(place, from: old, to: new, isInput: true)
    if let values = new.values {
      guard let known = old.values else {
        changes.add(.breaking, place, "only these values are accepted now: \(Self.text(values))")
        return
      }
      let lost = known.subtracting(values)
      if !lost.isEmpty {
        changes.add(.breaking, place, "no longer accepted: \(Self.text(lost))")
      }
    }
    compareBounds(place, old, new)
    for property in old.properties {
      let path = "\(place).\(property.name)"
      guard let now = new.properties.first(where: { $0.name == property.name }) else {
        if !new.properties.isEmpty || new.isClosed {
          changes.add(.breaking, path, "it is removed")
        }
        continue
      }
      compareInput(path, property.value, now.value)
    }
    for name in new.required.subtracting(old.required).sorted() {
      changes.add(.breaking, "\(place).\(name)", "it is now required")
    }
    if let items = old.items, let others = new.items { compareInput("\(place)[]", items, others) }
    compareForms(place, old, new, isInput: true)
  }

  private mutating func compareOutput(_ place: String, _ before: JSONValue, _ after: JSONValue) {
    entering(before, after, false, place) { comparison in
      comparison.compareOutput(
        place, comparison.old.schema(before), comparison.new.schema(after))
    }
  }

  private mutating func compareOutput(_ place: String, _ old: OpenAPISchema, _ new: OpenAPISchema) {
    // What was never promised is not missed.
    if old.isAny { return }
    guard !new.isAny else {
      changes.add(.breaking, place, "its type is no longer stated")
      return
    }
    if !old.isNullable, new.isNullable { changes.add(.breaking, place, "it can now be null") }
    guard new.forms.isEmpty || !old.forms.isEmpty else { return compareToForms(place, old, new) }
    compareTypes(place, from: old, to: new, isInput: false)
    if let known = old.values {
      if let values = new.values {
        let added = values.subtracting(known)
        if !added.isEmpty { changes.add(.note, place, "new values: \(Self.text(added))") }
      } else {
        changes.add(.note, place, "it can have any value now")
      }
    }
    for property in old.properties {
      let path = "\(place).\(property.name)"
      guard let now = new.properties.first(where: { $0.name == property.name }) else {
        changes.add(.breaking, path, "it is removed")
        continue
      }
      if old.required.contains(property.name), !new.required.contains(property.name) {
        changes.add(.breaking, path, "it is no longer always there")
      }
      compareOutput(path, property.value, now.value)
    }
    if let items = old.items {
      if let others = new.items {
        compareOutput("\(place)[]", items, others)
      } else if new.types?.contains("array") ?? true {
        changes.add(.breaking, "\(place)[]", "its type is no longer stated")
      }
    }
    compareForms(place, old, new, isInput: false)
  }

  private mutating func compareTypes(
    _ place: String, from old: OpenAPISchema, to new: OpenAPISchema, isInput: Bool
  ) {
    guard let before = old.types, let after = new.types else {
      if isInput, let after = new.types {
        changes.add(
          .breaking, place, "it must be \(after.sorted().joined(separator: " or ")) now")
      }
      return
    }
    // Input must still be accepted; output must still be expected.
    let (narrow, wide) = isInput ? (before, after) : (after, before)
    let surplus = narrow.filter {
      !wide.contains($0) && !($0 == "integer" && wide.contains("number"))
    }
    guard !surplus.isEmpty else { return }
    func text(_ types: Set<String>) -> String { types.sorted().joined(separator: " or ") }
    changes.add(.breaking, place, "it was \(text(before)) and is \(text(after))")
  }

  private mutating func compareBounds(_ place: String, _ old: OpenAPISchema, _ new: OpenAPISchema) {
    for name in OpenAPISchema.upperBounds {
      guard let bound = new.bounds[name], bound < old.bounds[name] ?? .infinity else { continue }
      changes.add(.breaking, place, "\(name) is \(Self.text(bound)) now")
    }
    for name in OpenAPISchema.lowerBounds {
      guard let bound = new.bounds[name], bound > old.bounds[name] ?? -.infinity else { continue }
      changes.add(.breaking, place, "\(name) is \(Self.text(bound)) now")
    }
    if let pattern = new.pattern, pattern != old.pattern {
      changes.add(.breaking, place, "it must match \(pattern) now")
    }
  }

  // MARK: Forms

  /// Compares an output that had one form with each of those that it has now.
  private mutating func compareToForms(
    _ place: String, _ old: OpenAPISchema, _ new: OpenAPISchema
  ) {
    for (name, form) in named(new.forms, self.new) {
      let reference = form["$ref"]?.string.map { "form \($0)" }
      if let reference, !open.insert(reference).inserted { continue }
      var whole = self.new.schema(form)
      whole.properties += new.properties.filter { property in
        !whole.properties.contains { $0.name == property.name }
      }
      whole.required.formUnion(new.required)
      whole.types = whole.types ?? new.types
      compareOutput("\(place)<\(name)>", old, whole)
      if let reference { open.remove(reference) }
    }
  }

  /// Compares the forms of `oneOf` and `anyOf`: those with the same name.
  private mutating func compareForms(
    _ place: String, _ old: OpenAPISchema, _ new: OpenAPISchema, isInput: Bool
  ) {
    guard !old.forms.isEmpty || !new.forms.isEmpty else { return }
    let before = named(old.forms, self.old)
    let after = named(new.forms, self.new)
    for (name, form) in before {
      guard let other = after.first(where: { $0.name == name })?.form else {
        if isInput, !new.forms.isEmpty {
          changes.add(.breaking, place, "the form \(name) is no longer accepted")
        }
        continue
      }
      if isInput {
        compareInput("\(place)<\(name)>", form, other)
      } else {
        compareOutput("\(place)<\(name)>", form, other)
      }
    }
    guard !isInput, !old.forms.isEmpty else { return }
    guard !new.forms.isEmpty else {
      changes.add(.note, place, "its forms are no longer listed")
      return
    }
    for (name, _) in after where !before.contains(where: { $0.name == name }) {
      changes.add(.note, place, "the form \(name) is new")
    }
  }

  private func named(
    _ forms: [JSONValue], _ reader: OpenAPIReader
  ) -> [(name: String, form: JSONValue)] {
    forms.enumerated().map { index, form in (Self.name(of: form, reader) ?? "\(index + 1)", form) }
  }

  /// The name of a form: of its reference, the type that `__typename` says, its title, or its only type.
  private static func name(of form: JSONValue, _ reader: OpenAPIReader) -> String? {
    let schema = reader.schema(form)
    if let typename = schema.properties.first(where: { $0.name == "__typename" })?.value,
      let value = reader.schema(typename).values?.first?.string
    {
      return value
    }
    if let reference = form["$ref"]?.string {
      return reference.split(separator: "/").last.map { String($0) }
    }
    return form["title"]?.string ?? (schema.types?.count == 1 ? schema.types?.first : nil)
  }

  // MARK: Texts

  private static func text(_ values: Set<JSONValue>) -> String {
    values.map { $0.string ?? $0.text }.sorted().joined(separator: ", ")
  }

  private static func text(_ bound: Double) -> String {
    bound == bound.rounded() && bound.magnitude < 1e15 ? "\(Int64(bound))" : "\(bound)"
  }
}
