import Filtering

/// Inclusions: any text is read to a tree of relationships or refused with faults, and the tree's own text
/// is read to the same tree.
enum InclusionTextTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    let inclusions: [Inclusion]
    do throws(InclusionFaults) {
      inclusions = try Inclusion.read(text)
    } catch {
      return Finding.require(!error.messages.isEmpty, "refused without a fault")
    }
    Finding.require(!inclusions.isEmpty, "no relationship")
    let written = inclusions.flatMap(paths).joined(separator: ",")
    // The tree can be longer than its text: `a.b,a.c` has `a` three times.
    guard written.count <= Inclusion.charactersMax else { return }
    guard let again = try? Inclusion.read(written) else {
      return Finding.require(
        inclusions.flatMap(paths).count > Inclusion.pathsMax, "not read again: \(written)")
    }
    Finding.require(again == inclusions, "another tree: \(written)")
  }

  /// The paths of a tree: one of the relationship itself, if it has arguments or no others.
  private static func paths(of inclusion: Inclusion) -> [String] {
    var arguments: [String] = []
    if let limit = inclusion.limit { arguments.append("limit:\(limit)") }
    if let order = inclusion.order { arguments.append("order:\(order)") }
    let step =
      inclusion.name + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ",")))")
    guard let first = inclusion.inner.first else { return [step] }
    Finding.require(inclusion.inner.allSatisfy { $0.inner.isEmpty }, "more than two levels")
    return paths(of: first).map { "\(step).\($0)" }
      + inclusion.inner.dropFirst().flatMap(paths).map { "\(inclusion.name).\($0)" }
  }
}
