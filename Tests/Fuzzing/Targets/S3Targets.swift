import HTTPWire
import S3Wire

/// Signatures of the S3 dialect, in the field and in the query: a parsed one is unchanged after it was
/// written and parsed again, and any path and query has one canonical form.
enum S3SignatureTarget {
  static func run(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    if let authorization = SignatureAuthorization(text) {
      Finding.require(
        SignatureAuthorization(authorization.text) == authorization,
        "a signature changes: \(authorization.text)")
      claim(authorization.credential, text)
    }
    if let credential = SignatureCredential(text) { claim(credential, text) }
    if let time = SignatureTime(text) {
      Finding.require(SignatureTime(time.date).text == time.text, "a time changes: \(time.text)")
    }
    if let payload = PayloadHash(text) {
      Finding.require(payload.text == text, "a payload's hash changes: \(text)")
    }
    if let path = S3Encoding.canonicalPath(text) {
      Finding.require(S3Encoding.canonicalPath(path) == path, "a path has two forms: \(path)")
    }
    query(Array(input)[...])
  }

  private static func claim(_ credential: SignatureCredential, _ text: String) {
    Finding.require(
      SignatureCredential(credential.text) == credential, "a credential changes: \(text)")
    let key = SignatureKey(secret: "secret", scope: credential.scope)
    _ = key.isSignature(text, of: text)
  }

  private static func query(_ bytes: ArraySlice<UInt8>) {
    guard let query = try? QueryString(bytes) else { return }
    let canonical = S3Encoding.canonicalQuery(query.parameters)
    let again = (try? QueryString(canonical)).map { S3Encoding.canonicalQuery($0.parameters) }
    // A query without parameters is written as an empty text, and so is a parameter without name and value.
    Finding.require(again == canonical || canonical == "=", "a query has two forms: \(canonical)")
    guard let presigned = try? PresignedQuery(query) else { return }
    Finding.require(
      PresignedQuery.lifetimeSeconds.contains(presigned.lifetimeSeconds), "a lifetime")
    let end = presigned.time.date.secondsSince1970 + presigned.lifetimeSeconds
    Finding.require(end > presigned.time.date.secondsSince1970, "a URL without an expiry")
    let written = (try? QueryString(presigned.text(with: []))).flatMap { try? PresignedQuery($0) }
    Finding.require(written == presigned, "a presigned query changes: \(query.text)")
  }
}

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
        return Finding.require(false, "written text is refused")
      }
      Finding.require(again == root, "a document changes in a round trip")
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
    Finding.require(whole == read(dials.pieces, boundary), "cuts change the result")
    let delimiter = Array("\r\n--AaB03x".utf8)
    guard !contains(Array("\r\n".utf8) + dials.stream + Array("\r\n".utf8), delimiter) else {
      return
    }
    let form =
      Array("--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\n".utf8) + dials.stream
      + delimiter + Array("--".utf8)
    let reading = read([form[...]], boundary)
    Finding.require(reading.fault == nil && reading.hasEnded, "written text is refused")
    Finding.require(reading.contents == [dials.stream], "content changes in a round trip")
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

/// Content in signed chunks: any bytes in one piece and in many; and well-formed chunks, read back.
enum AWSChunkedTarget {
  private struct Reading: Equatable {
    var content: [UInt8] = []
    var chunks: [Int] = []
    var trailers: [AWSChunkedTrailer] = []
    var error: AWSChunkedError?
    var hasEnded = false
  }

  private static let byteCounts = [0, 3, 10, 4096]

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    let form = AWSChunkedForm.allCases[Int(dials.switches) % AWSChunkedForm.allCases.count]
    let byteCount = byteCounts[Int(dials.switches >> 4) % byteCounts.count]
    let whole = read([dials.stream[...]], form, byteCount: byteCount)
    Finding.require(
      whole == read(dials.pieces, form, byteCount: byteCount), "cuts change the result")
    Finding.require(whole.content.count <= byteCount, "more content than announced")
    Finding.require(
      !whole.hasEnded || whole.content.count == byteCount, "an end before the announced length")
    roundTrip(dials)
  }

  private static func roundTrip(_ dials: Dials) {
    let signature = ";chunk-signature=\(String(repeating: "a", count: 64))\r\n"
    var encoded: [UInt8] = []
    for piece in dials.pieces {
      encoded += "\(String(piece.count, radix: 16))\(signature)".utf8
      encoded += piece + Array("\r\n".utf8)
    }
    encoded += "0\(signature)\r\n".utf8
    let reading = read([encoded[...]], .signed, byteCount: dials.stream.count)
    Finding.require(reading.error == nil && reading.hasEnded, "written text is refused")
    Finding.require(reading.content == dials.stream, "content changes in a round trip")
  }

  private static func read(
    _ pieces: [ArraySlice<UInt8>], _ form: AWSChunkedForm, byteCount: Int
  ) -> Reading {
    var decoder = AWSChunkedDecoder(form, byteCount: byteCount)
    var reading = Reading()
    do throws(AWSChunkedError) {
      for piece in pieces {
        var piece = piece
        while let event = try decoder.next(&piece) {
          switch event {
          case .chunk(let bytes, _): reading.chunks.append(bytes)
          case .content(let bytes):
            Finding.require(!bytes.isEmpty, "empty content")
            reading.content += bytes
          case .chunkEnd: break
          case .trailers(let trailers, _): reading.trailers = trailers
          case .end: reading.hasEnded = true
          }
        }
        Finding.require(piece.isEmpty, "needs more input and leaves bytes")
      }
      try decoder.finish()
    } catch {
      reading.error = error
    }
    return reading
  }
}
