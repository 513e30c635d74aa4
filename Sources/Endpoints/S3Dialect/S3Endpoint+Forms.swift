import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import S3Wire

extension S3Endpoint {
  /// Form fields that correspond to a header field of another name.
  private static let headerNames = ["acl": "x-amz-acl"]
  private static let headers: Set<String> = [
    "acl", "cache-control", "content-disposition", "content-encoding", "content-language",
    "content-type", "expires",
  ]

  /// POST Object: an upload by an HTML form, authorised by the form's signed policy.
  func postForm(to bucket: BucketName, _ call: S3Call) async throws(S3Fault) -> ServerResponse {
    guard
      let boundary = call.request.field("content-type").flatMap({
        FormBoundary(contentType: $0)
      })
    else {
      throw S3Fault(
        .preconditionFailed, "A POST to a bucket must be of the type multipart/form-data.")
    }
    guard !call.access.isSigned else {
      throw S3Fault(
        .notImplemented,
        "A form upload must be signed by its policy, not by Authorization or the query.")
    }
    let reader = S3FormReader(boundary, call.request.upload(digests: []))
    let (fields, file) = try await reader.fields()
    let form = S3Form(bucket: bucket, fields: try Self.fields(fields, file))
    let granted = try await services.authenticator.authenticate(form)
    try granted.request.grant.admit(to: .write, bucket)
    let upload = S3Call(
      request: call.request, access: granted.request, query: call.query,
      fields: try Self.headers(of: form))
    let address = ObjectAddress(bucket: bucket, key: try S3Call.key(form["key"] ?? ""))
    let written = try await store(form, reader, granted, at: address, upload)
    return response(to: form, written, at: address, call)
  }

  private func store(
    _ form: S3Form, _ reader: S3FormReader, _ granted: S3FormGrant, at address: ObjectAddress,
    _ call: S3Call
  ) async throws(S3Fault) -> WrittenObject {
    var attributes = try S3WriteFields.attributes(call)
    if let text = form["tagging"] { attributes.tags = try Self.tags(text) }
    let digests = try S3RequestContent.digests(call)
    let content = reader.upload(digests: digests, byteCounts: granted.byteCounts)
    do throws(Failure) {
      return try await files.write(
        content, at: address, attributes: attributes, if: .none, by: .caller(call.caller))
    } catch {
      throw reader.refusal ?? S3Fault(error)
    }
  }

  private func response(
    to form: S3Form, _ written: WrittenObject, at address: ObjectAddress, _ call: S3Call
  ) -> ServerResponse {
    let tag = FileFields.tag(written.metadata).text
    // The bucket's path, which is `/` if the host names the bucket.
    let path = call.request.path
    let bucketPath = path.hasSuffix("/") ? String(path.dropLast()) : path
    let location = "\(bucketPath)/\(S3Encoding.path(address.key.text))"
    var response: ServerResponse
    if let target = form["success_action_redirect"] ?? form["redirect"],
      let url = Self.redirect(to: target, address, tag: tag)
    {
      response = S3Reply.done(.seeOther)
      response.fields[.location] = url
    } else {
      switch form["success_action_status"] {
      case "200": response = S3Reply.done()
      case "201":
        var writer = XMLWriter("PostResponse", namespace: nil)
        writer.element("Location", location)
        writer.element("Bucket", address.bucket.text)
        writer.element("Key", address.key.text)
        writer.element("ETag", tag)
        response = S3Reply.document(writer)
        response.status = .created
      default: response = S3Reply.done(.noContent)
      }
      response.fields[.location] = location
    }
    response.fields[.eTag] = tag
    response.fields.setEncryption(written.metadata.attributes)
    return response
  }

  /// The address to redirect to, with bucket, key and tag in its query; nil if it is not a valid HTTP URL.
  private static func redirect(
    to target: String, _ address: ObjectAddress, tag: String
  ) -> String? {
    guard target.hasPrefix("http://") || target.hasPrefix("https://"),
      target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    var query = QueryString()
    query.parameters = [
      QueryString.Parameter(name: "bucket", value: address.bucket.text),
      QueryString.Parameter(name: "key", value: address.key.text),
      QueryString.Parameter(name: "etag", value: tag),
    ]
    let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    return "\(parts[0])\(parts[0].contains("?") ? "&" : "?")\(query.text)"
  }

  /// The fields, with `${filename}` in the key replaced by the file's name.
  private static func fields(
    _ fields: [(name: String, value: String)], _ file: FormPart
  ) throws(S3Fault) -> [(name: String, value: String)] {
    guard fields.contains(where: { $0.name == "key" && !$0.value.isEmpty }) else {
      throw S3Fault(.invalidArgument, "Bucket POST must contain a field named 'key'.")
    }
    // Old browsers send a path; the name is its last segment.
    let name = file.filename?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(
      String.init)
    return fields.map { field in
      field.name == "key"
        ? (field.name, field.value.replacing("${filename}", with: name ?? "")) : field
    }
  }

  /// The form fields that correspond to header fields of PutObject.
  private static func headers(of form: S3Form) throws(S3Fault) -> HTTPFields {
    /// Fields of the signature, which are not fields of the object.
    let signatureNames: Set = [
      "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-security-token",
      "x-amz-signature",
    ]
    var fields = HTTPFields()
    for (name, value) in form.fields
    where headers.contains(name) || (name.hasPrefix("x-amz-") && !signatureNames.contains(name)) {
      guard let field = HTTPField.Name(headerNames[name] ?? name), HTTPField.isValidValue(value)
      else {
        throw S3Fault(
          .invalidArgument, "The value of the form field \(name) is not a valid header field value."
        )
      }
      fields[field] = value
    }
    return fields
  }

  private static func tags(_ text: String) throws(S3Fault) -> TagSet {
    let root: XMLElement
    do throws(XMLFault) {
      root = try XMLReader.read(Array(text.utf8), within: XMLLimits(bytesMax: text.utf8.count))
    } catch {
      throw S3Fault(.malformedXML, "The form field tagging is not an XML document: \(error)")
    }
    return try S3Tagging.tags(in: root)
  }
}
