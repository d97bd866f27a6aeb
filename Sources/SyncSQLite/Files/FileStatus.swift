import Foundation

/// What a file is, under whatever name.
package struct FileStatus: Sendable, Hashable {
    /// The same for two names of one file, and for no two files that are there at once.
    package struct Identity: Sendable, Hashable {
        let device: UInt64
        let number: UInt64
    }

    package let identity: Identity
    package let size: Int
    /// How many names it has.
    package let linkCount: Int
    package let owner: UInt32
    package let group: UInt32
    /// When it was last written, in seconds and nanoseconds.
    let modified: [Int]
    /// Who may do what with it.
    package let permissions: UInt32
    let kind: Kind

    /// What a file can be, as far as it matters here.
    enum Kind: Sendable, Hashable {
        case regular, folder, blockDevice, other
    }

    package var isRegular: Bool { kind == .regular }
    package var isFolder: Bool { kind == .folder }

    /// Whether bytes written to it are kept in it, so that others can be lost by that.
    package var keepsBytes: Bool { isRegular || kind == .blockDevice }
}
