import HTTPWire

extension RequestHead {
  /// Whether a field is there whose name is known only at run time.
  ///
  /// - Parameter name: in lower case.
  func contains(_ name: String) -> Bool {
    let wanted = name.utf8
    for index in 0..<fields.count {
      let found = fields.name(at: index)
      if found.count == wanted.count,
        found.elementsEqual(wanted, by: { $0 | 0x20 == $1 | 0x20 })
      {
        return true
      }
    }
    return false
  }
}
