package import HTTPTypes
package import HTTPWire

extension HTTPFields {
  /// The fields of a parsed head, in their order. Bytes that are no UTF-8 become U+FFFD.
  package init(_ section: FieldSection) {
    self.init()
    reserveCapacity(section.count)
    for index in 0..<section.count {
      guard let name = HTTPField.Name(section.name(at: index).text) else { continue }
      append(HTTPField(name: name, value: section.value(at: index).text))
    }
  }
}
