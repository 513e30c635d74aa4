import S3Wire

/// The XML documents of S3: a parsed one is unchanged after it was written and parsed again, and limits hold.
enum S3XMLTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    let limits = XMLLimits(bytesMax: 4096, depthMax: 8, elementsMax: 64)
    do throws(XMLFault) {
      let root = try XMLReader.read(bytes, within: limits)
      Finding.require(depth(of: root) <= limits.depthMax, "deeper than allowed")
      Finding.require(count(root) <= limits.elementsMax, "more elements than allowed")
      var writer = XMLWriter(root.name, namespace: nil)
      write(root, to: &writer)
      let written = writer.finished()
      guard let again = try? XMLReader.read(written) else {
        return Finding.require(false, "what is written is not read")
      }
      Finding.require(again == root, "a document changes on its way")
    } catch {
      Finding.require((0...bytes.count).contains(error.offset), "a fault outside the document")
      Finding.require(error.line >= 1 && error.column >= 1, "a fault before the beginning")
    }
  }

  private static func write(_ element: XMLElement, to writer: inout XMLWriter) {
    writer.text(element.text)
    for child in element.children {
      writer.element(child.name) { write(child, to: &$0) }
    }
  }

  private static func depth(of element: XMLElement) -> Int {
    1 + (element.children.map { depth(of: $0) }.max() ?? 0)
  }

  private static func count(_ element: XMLElement) -> Int {
    1 + element.children.reduce(0) { $0 + count($1) }
  }
}
