import Foundation

/// A file that was sent, which no object need hold.
struct ParseFile: Sendable {
    /// Where it is to be had.
    let url: String
    /// Its media type, as it was sent.
    let type: String
    /// What is in it.
    let data: Data

    /// Why a name is none for a file; nil for one that is.
    static func refusal(of name: String) -> String? {
        if name.count > 128 { return "Filename too long." }
        let isPlain = name.wholeMatch(of: #/[_a-zA-Z0-9][a-zA-Z0-9@. ~_\-]*/#) != nil
        return isPlain ? nil : "Filename contains invalid characters."
    }
}
