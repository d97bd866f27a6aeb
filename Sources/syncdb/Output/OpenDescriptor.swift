import Foundation
import Sync

/// Paths that stand for open files of this process. To open one again would begin a file anew to which the shell appends.
enum OpenDescriptor {
    private static let folders = ["/dev/fd/", "/proc/self/fd/"]
    private static let names: [String: Int32] = ["/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2]
    private static let mostLinks = 40

    /// The open file that a path, or a symbolic link to such a path, stands for.
    ///
    /// - Throws: ``SystemFailure`` if a link on the way cannot be followed.
    static func number(of path: String) throws -> Int32? {
        var path = path
        for _ in 0..<mostLinks {
            if let number = names[path] { return number }
            if let folder = folders.first(where: path.hasPrefix) { return Int32(path.dropFirst(folder.count)) }
            guard let target = try ResolvedPath.target(of: path) else { return nil }
            path = ResolvedPath.path(of: target, in: path)
        }
        return nil
    }
}
