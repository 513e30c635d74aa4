extension JSONNode {
  /// The elements of an array in order; empty for every other kind.
  package var elements: Elements { Elements(parent: self) }

  /// The members of an object in order, repeated names included; empty for every other kind.
  package var members: Members { Members(parent: self) }

  /// The number of elements or members. Takes one load for each.
  package var count: Int {
    let isObject = kind == .object
    guard isObject || kind == .array else { return 0 }
    var count = 0
    var child = index + 1
    let end = Int(tape.next)
    while child < end {
      if isObject { child += 1 }
      child = Int(document.nodes[child].next)
      count += 1
    }
    return count
  }

  package var isEmpty: Bool { Int(tape.next) == index + 1 }

  /// The value of the first member with this name.
  ///
  /// If a name is repeated the first one counts, as in SQLite's JSON functions, which read the same
  /// texts. `repeatedName` finds such names.
  package subscript(name: String) -> JSONNode? {
    var name = name
    return name.withUTF8 { place(ofMember: $0) }.map { JSONNode(document: document, index: $0) }
  }

  /// Returns the index of the value of the first member with this name.
  private func place(ofMember name: UnsafeBufferPointer<UInt8>) -> Int? {
    document.nodes.withUnsafeBufferPointer { nodes in
      guard nodes[index].kind == .object else { return nil }
      return document.bytes.withUnsafeBufferPointer { bytes in
        let end = Int(nodes[index].next)
        var child = index + 1
        while child < end {
          let node = nodes[child]
          if node.flags & JSONTapeNode.escaped == 0 {
            let start = Int(node.start) + 1
            if Int(node.end) - 1 - start == name.count,
              UnsafeBufferPointer(rebasing: bytes[start..<start + name.count]).elementsEqual(name)
            {
              return child + 1
            }
          } else if isName(at: child, equalTo: name) {
            return child + 1
          }
          child = Int(nodes[child + 1].next)
        }
        return nil
      }
    }
  }

  /// The element at a position of an array; nil beyond its end. Takes time linear in the position.
  package subscript(position: Int) -> JSONNode? {
    guard kind == .array, position >= 0 else { return nil }
    var remaining = position
    for element in elements {
      if remaining == 0 { return element }
      remaining -= 1
    }
    return nil
  }

  /// A name that occurs twice in this object itself (not in nested ones).
  package var repeatedName: String? {
    var seen = Set<String>()
    for member in members where !seen.insert(member.name).inserted { return member.name }
    return nil
  }

  func isName(at child: Int, equalTo name: UnsafeBufferPointer<UInt8>) -> Bool {
    let node = document.nodes[child]
    guard node.flags & JSONTapeNode.escaped == 0 else {
      return JSONNode(document: document, index: child).string.map { $0.utf8.elementsEqual(name) }
        ?? false
    }
    let start = Int(node.start) + 1
    guard Int(node.end) - 1 - start == name.count else { return false }
    return document.bytes.withUnsafeBufferPointer { bytes in
      for offset in 0..<name.count where bytes[start + offset] != name[offset] { return false }
      return true
    }
  }

  package struct Elements: Sequence, IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var child: Int
    private let end: Int

    init(parent: JSONNode) {
      document = parent.document
      child = parent.index + 1
      end = parent.kind == .array ? Int(parent.tape.next) : child
    }

    package mutating func next() -> JSONNode? {
      guard child < end else { return nil }
      defer { child = Int(document.nodes[child].next) }
      return JSONNode(document: document, index: child)
    }
  }

  /// A name with its value, inside the document.
  package struct Member: Sendable {
    let document: JSONDocument
    let index: Int

    package var name: String { nameNode.string ?? "" }
    package var nameNode: JSONNode { JSONNode(document: document, index: index) }
    package var value: JSONNode { JSONNode(document: document, index: index + 1) }

    /// Compares names without creating a string.
    package func isNamed(_ name: String) -> Bool {
      var name = name
      return name.withUTF8 { nameNode.isName(at: index, equalTo: $0) }
    }

    /// Returns whether a text is the name, or its beginning with an ASCII character after it.
    package func isNamed(_ name: String, orWith next: Unicode.Scalar) -> Bool {
      let node = document.nodes[index]
      guard node.flags & JSONTapeNode.escaped == 0 else {
        return self.name == name || self.name.hasPrefix(name + String(next))
      }
      var name = name
      return name.withUTF8 { name in
        document.bytes.withUnsafeBufferPointer { bytes in
          let inner = bytes[Int(node.start) + 1..<Int(node.end) - 1]
          guard inner.starts(with: name) else { return false }
          return inner.count == name.count
            || inner[inner.startIndex + name.count] == UInt8(ascii: next)
        }
      }
    }
  }

  package struct Members: Sequence, IteratorProtocol, Sendable {
    private let document: JSONDocument
    private var child: Int
    private let end: Int

    init(parent: JSONNode) {
      document = parent.document
      child = parent.index + 1
      end = parent.kind == .object ? Int(parent.tape.next) : child
    }

    package mutating func next() -> Member? {
      guard child < end else { return nil }
      defer { child = Int(document.nodes[child + 1].next) }
      return Member(document: document, index: child)
    }
  }
}
