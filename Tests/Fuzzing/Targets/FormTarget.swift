import HTTPWire

/// Forms: any bytes in one piece and in many; and content that is written as a part, read back.
enum FormTarget {
  private struct Reading: Equatable {
    var parts: [FormPart] = []
    var contents: [[UInt8]] = []
    var fault: FormFault?
    var hasEnded = false
  }

  private static let type = "multipart/form-data; boundary=AaB03x"

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input), let boundary = FormBoundary(contentType: type) else { return }
    let whole = read([dials.stream[...]], boundary)
    Finding.require(whole == read(dials.pieces, boundary), "cuts change the reading")
    let delimiter = Array("\r\n--AaB03x".utf8)
    guard !contains(Array("\r\n".utf8) + dials.stream + Array("\r\n".utf8), delimiter) else {
      return
    }
    let form =
      Array("--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8) + dials.stream
      + delimiter + Array("--".utf8)
    let reading = read([form[...]], boundary)
    Finding.require(reading.fault == nil && reading.hasEnded, "what is written is not read")
    Finding.require(reading.contents == [dials.stream], "content changes on its way")
  }

  private static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard bytes.count >= wanted.count else { return false }
    return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
  }

  private static func read(
    _ pieces: [ArraySlice<UInt8>], _ boundary: FormBoundary
  ) -> Reading {
    var parser = FormParser(boundary)
    var reading = Reading()
    do throws(FormFault) {
      for piece in pieces {
        parser.append(Array(piece))
        while let event = try parser.next() {
          switch event {
          case .part(let part):
            reading.parts.append(part)
            reading.contents.append([])
          case .content(let bytes):
            Finding.require(!bytes.isEmpty, "empty content")
            reading.contents[reading.contents.count - 1] += bytes
          case .partEnd: break
          case .end: reading.hasEnded = true
          }
        }
      }
      try parser.finish()
    } catch {
      // How far a faulty form was parsed depends on its pieces.
      reading = Reading(fault: error)
    }
    return reading
  }
}
