import Foundation

/// Where a path leads when every symbolic link is followed, also one to what is not there yet.
package struct ResolvedPath: Sendable, Hashable {
    /// The folder under its one name without links.
    package let folder: String
    package let name: String

    package var path: String { folder.hasSuffix("/") ? folder + name : folder + "/" + name }
}
