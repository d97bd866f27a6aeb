#if !(os(Windows) || SYNC_FOUNDATION_FILES)
    import Foundation

    extension ResolvedPath {
        private static var mostLinks: Int { 40 }
        private static var slash: UInt8 { UInt8(ascii: "/") }

        /// - Throws: ``SystemFailure`` if there is no such folder, the links go in a circle, or the path can be none of a file:
        ///   it is empty, or ends as those of folders do.
        package init(_ path: String) throws(SystemFailure) {
            var path = path
            for _ in 0..<Self.mostLinks {
                if let target = try Self.target(of: path) {
                    path = Self.path(of: target, in: path)
                    continue
                }
                let start = Self.folder(of: path)
                name = String(decoding: path.utf8.dropFirst(start.utf8.count), as: UTF8.self)
                guard !["", ".", ".."].contains(name) else { throw SystemFailure(path.isEmpty ? ENOENT : EISDIR) }
                folder = try Self.canonical(start.isEmpty ? "." : start)
                return
            }
            throw SystemFailure(ELOOP)
        }

        /// Where a symbolic link leads that says this.
        package static func path(of target: String, in link: String) -> String {
            target.utf8.first == slash ? target : folder(of: link) + target
        }

        /// What a symbolic link says; nil if there is none.
        ///
        /// - Throws: ``SystemFailure`` if that cannot be told, or is no text: as text it would lead elsewhere.
        package static func target(of path: String) throws(SystemFailure) -> String? {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
            let count = readlink(path, &bytes, bytes.count - 1)
            guard count >= 0 else {
                // It is no link, or there is nothing.
                if errno == EINVAL || errno == ENOENT { return nil }
                throw SystemFailure()
            }
            return try text(bytes)
        }

        /// The path up to its last slash. In bytes: what Swift takes for one character may begin with a slash.
        private static func folder(of path: String) -> String {
            path.utf8.lastIndex(of: slash).map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
        }

        private static func canonical(_ folder: String) throws(SystemFailure) -> String {
            guard let path = realpath(folder, nil) else { throw SystemFailure() }
            defer { free(path) }
            return try text(path)
        }

        private static func text(_ name: UnsafePointer<CChar>) throws(SystemFailure) -> String {
            guard let text = String(validatingCString: name) else { throw SystemFailure(EILSEQ) }
            return text
        }
    }
#endif
