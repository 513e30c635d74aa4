import Model
import Testing
import Upstream

@testable import Gateway

/// The forms in which a GraphQL client can refer to a registered document.
struct DocumentDirectoryTests {
  private static let text = "query Item($id: ID!) {\n  item(id: $id) {\n    id\n  }\n}"
  private static let digest = DocumentDigest.hexadecimal(of: text)
  private static let listed = "query Items { items { id } }"

  private func directory() throws -> DocumentDirectory {
    let loaded = OperationRegistry.load(
      files: [
        SourceFile(path: "item.graphql", text: Self.text),
        SourceFile(path: "m.json#/m1", text: Self.listed, documentID: "m1"),
      ],
      schemaSources: [
        SourceFile(
          path: "schema.graphql",
          text:
            "type Query { item(id: ID!): Item items: [Item] } type Item { id: ID! name: String }")
      ], settings: RegistrySettings())
    let registry = try #require(loaded.registry, "\(loaded.findings)")
    return OperationDirectory(registry: registry).documents
  }

  private static func name(_ match: DocumentMatch) -> String? {
    if case .operation(let operation) = match { operation.name } else { nil }
  }

  @Test(
    "A registered document is found by its name, id, hash and text",
    arguments: [
      DocumentReference(operationName: "Item"), DocumentReference(documentID: digest),
      DocumentReference(documentID: "sha256:\(digest)"),
      DocumentReference(operationName: "Item", documentID: digest),
      DocumentReference(hash: digest), DocumentReference(hash: digest.uppercased()),
      DocumentReference(text: text),
      DocumentReference(text: text.replacing("\n", with: " ")),
      DocumentReference(operationName: "Item", documentID: digest, hash: digest, text: text),
      DocumentReference(
        operationName: "Item", text: text + " query Other { items { name } }"),
    ])
  func findsRegisteredDocuments(reference: DocumentReference) throws {
    #expect(Self.name(try directory().match(reference)) == "Item")
  }

  @Test("The ids of a manifest stand as they are, and the hashes of its texts are known")
  func findsDocumentsOfAManifest() throws {
    let directory = try directory()
    let references = [
      DocumentReference(documentID: "m1"), DocumentReference(hash: "m1"),
      DocumentReference(hash: DocumentDigest.hexadecimal(of: Self.listed)),
      DocumentReference(text: Self.listed), DocumentReference(operationName: "Items"),
    ]
    for reference in references {
      #expect(Self.name(try directory.match(reference)) == "Items", "\(reference)")
    }
  }

  @Test(
    "Another reference is refused with a reason",
    arguments: [
      (DocumentReference(), Failure.Code.malformedRequest, "names no document"),
      (DocumentReference(operationName: "Itm"), .documentUnknown, "\"Item\""),
      (DocumentReference(documentID: "m2"), .documentUnknown, "documentId"),
      (DocumentReference(operationName: "Items", documentID: digest), .malformedRequest, "Item."),
      (
        DocumentReference(text: text.replacing("    id\n", with: "    id name\n")),
        .documentUnknown, "registered with another document"
      ),
      (DocumentReference(documentID: "m1", text: text), .documentUnknown, "different documents"),
      (DocumentReference(text: "query {"), .malformedRequest, "does not parse"),
      (DocumentReference(operationName: "Other", text: text), .malformedRequest, "Other"),
      (
        DocumentReference(operationName: "Item", text: text + " " + text), .malformedRequest,
        "two operations named Item"
      ),
      (
        DocumentReference(
          operationName: "Item", text: text + " query Other { items { id } } query Other { a }"),
        .malformedRequest, "two operations named Other"
      ),
      (
        DocumentReference(
          text: text + " fragment A on Item { id } fragment A on Item { name }"),
        .malformedRequest, "two fragments named A"
      ),
      (
        DocumentReference(operationName: "Item", text: text + " { items { id } }"),
        .malformedRequest, "without a name"
      ),
      (
        DocumentReference(text: text + String(repeating: " ", count: 300_000)), .documentUnknown,
        "limit"
      ),
    ])
  func refusesOtherReferences(
    reference: DocumentReference, code: Failure.Code, words: String
  ) throws {
    let refusal = #expect(throws: DocumentRefusal.self) { try directory().match(reference) }
    guard case .failure(let failure)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(failure.code == code && failure.message.contains(words), "\(failure.message)")
  }

  @Test("The hash of a text is known after a request with both, and only if it is the text's")
  func learnsHashesOfTexts() throws {
    let directory = try directory()
    let text = Self.text.replacing("\n", with: "  ")
    let hash = DocumentDigest.hexadecimal(of: text)
    #expect(Self.isUnknown(directory, hash))
    let refusal = #expect(throws: DocumentRefusal.self) {
      try directory.match(DocumentReference(hash: Self.digest, text: text))
    }
    guard case .hashMismatch? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(Self.isUnknown(directory, hash))
    _ = try directory.match(DocumentReference(hash: hash, text: text))
    #expect(Self.name(try directory.match(DocumentReference(hash: hash))) == "Item")
  }

  @Test("Of one operation's texts a bounded number is remembered, and of other texts none")
  func remembersABoundedNumber() throws {
    let directory = try directory()
    let texts = (1...DocumentDirectory.learnedMax + 5).map {
      Self.text + String(repeating: " ", count: $0)
    }
    for text in texts { _ = try directory.match(DocumentReference(text: text)) }
    let known = texts.filter { !Self.isUnknown(directory, DocumentDigest.hexadecimal(of: $0)) }
    #expect(known == texts.suffix(DocumentDirectory.learnedMax))
    let foreign = "query Foreign { items { id } }"
    guard case .unregistered(let document) = try directory.match(DocumentReference(text: foreign))
    else {
      Issue.record("it is not registered")
      return
    }
    #expect(document.operationName == "Foreign" && document.kind == .query)
    #expect(Self.isUnknown(directory, DocumentDigest.hexadecimal(of: foreign)))
    // The registered forms are never forgotten.
    #expect(Self.name(try directory.match(DocumentReference(hash: Self.digest))) == "Item")
  }

  /// What a request gets must not depend on what others sent before.
  @Test("A text with several operations is known for the operations that were selected, by name")
  func selectsAmongSeveralOperations() throws {
    let both = Self.text + " " + Self.listed
    let hash = DocumentDigest.hexadecimal(of: both)
    for selected in ["Item", "Items"] {
      let directory = try directory()
      let other = selected == "Item" ? "Items" : "Item"
      _ = try directory.match(DocumentReference(operationName: selected, hash: hash, text: both))
      func match(_ name: String?, text: String?) throws -> String? {
        Self.name(
          try directory.match(DocumentReference(operationName: name, hash: hash, text: text)))
      }
      #expect(try match(selected, text: nil) == selected)
      // The client of the other operation sends the text, as for a hash that is not known.
      #expect(Self.isUnknown(directory, hash, operationName: other))
      #expect(Self.refusal(directory, hash, text: nil)?.contains("several") == true)
      #expect(Self.refusal(directory, hash, text: both)?.contains("several") == true)
      #expect(try match(other, text: both) == other)
      for name in [selected, other] { #expect(try match(name, text: nil) == name) }
      #expect(Self.refusal(directory, hash, text: nil)?.contains("several") == true)
      // A documentId of the same digest selects in the same way.
      let reference = DocumentReference(operationName: other, documentID: "sha256:\(hash)")
      #expect(Self.name(try directory.match(reference)) == other)
    }
  }

  /// The message of the failure of a request without an operation's name.
  private static func refusal(
    _ directory: DocumentDirectory, _ hash: String, text: String?
  ) -> String? {
    do throws(DocumentRefusal) {
      _ = try directory.match(DocumentReference(hash: hash, text: text))
      return nil
    } catch {
      if case .failure(let failure) = error { return failure.message } else { return nil }
    }
  }

  private static func isUnknown(
    _ directory: DocumentDirectory, _ hash: String, operationName: String? = nil
  ) -> Bool {
    do throws(DocumentRefusal) {
      _ = try directory.match(DocumentReference(operationName: operationName, hash: hash))
      return false
    } catch {
      if case .hashUnknown = error { return true } else { return false }
    }
  }
}
