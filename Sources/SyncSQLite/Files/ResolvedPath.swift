import Foundation

/// Where a path leads when every symbolic link is followed, also one to what is not there yet.
package struct ResolvedPath: Sendable, Hashable {
    private static let mostLinks = 40

    /// The folder under its one name without links.
    package let folder: String
    package let name: String

    package var path: String { folder == "/" ? "/" + name : folder + "/" + name }

    /// Nil if there is no such folder, or the links go in a circle.
    package init?(_ path: String) {
        var path = path
        for _ in 0..<Self.mostLinks {
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            guard let target = Self.target(of: path) else {
                let slash = path.lastIndex(of: "/")
                guard let folder = Self.canonical(slash.map { String(path[...$0]) } ?? ".") else { return nil }
                self.folder = folder
                name = slash.map { String(path[path.index(after: $0)...]) } ?? path
                return
            }
            path = Self.path(of: target, in: path)
        }
        return nil
    }

    /// Where a symbolic link leads that says this.
    package static func path(of target: String, in link: String) -> String {
        if target.hasPrefix("/") { return target }
        return (link.lastIndex(of: "/").map { String(link[...$0]) } ?? "") + target
    }

    /// What a symbolic link says; nil if it is none.
    package static func target(of path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(path, &bytes, bytes.count - 1)
        return count > 0 ? String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    private static func canonical(_ folder: String) -> String? {
        guard let path = realpath(folder, nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
