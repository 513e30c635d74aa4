import Model

/// A bucket's settings as they lie in a column: with the members that an object's attributes have.
enum BucketSettingsText {
  static func encode(_ settings: BucketSettings) -> String {
    AttributesText.encode(
      ObjectAttributes(serverSideEncryption: settings.encryption, tags: settings.tags))
  }

  /// - Throws: where the column holds no JSON, so was written by something else.
  static func decode(_ text: String) throws -> BucketSettings {
    let attributes = try AttributesText.decode(text)
    return BucketSettings(encryption: attributes.serverSideEncryption, tags: attributes.tags)
  }
}
