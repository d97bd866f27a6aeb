import Foundation

/// An uploaded file. No object needs to reference it.
struct ParseFile: Sendable {
    /// The URL of the file.
    let url: String
    /// The media type of the upload.
    let type: String
    /// The bytes.
    let data: Data

    /// Returns the reason why a name is invalid; nil for a valid one.
    static func refusal(of name: String) -> String? {
        if name.count > 128 { return "Filename too long." }
        let isPlain = name.wholeMatch(of: #/[_a-zA-Z0-9][a-zA-Z0-9@. ~_\-]*/#) != nil
        return isPlain ? nil : "Filename contains invalid characters."
    }
}
