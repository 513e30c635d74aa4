package import Model

/// The fields of a form that uploads an object (POST Object), all that come before its file.
package struct S3Form: Sendable {
  package let bucket: BucketName
  /// In their order, names in lower case. The key has the file's name in it already.
  package let fields: [(name: String, value: String)]

  package init(bucket: BucketName, fields: [(name: String, value: String)]) {
    self.bucket = bucket
    self.fields = fields
  }

  /// The first value of a field, its name given in lower case.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}
