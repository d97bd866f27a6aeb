#if os(Windows) || SYNC_FOUNDATION_FILES
    import Foundation

    extension ResolvedPath {
        /// - Throws: ``SystemFailure`` if there is no such folder, or the path can be none of a file.
        package init(_ path: String) throws(SystemFailure) {
            guard !path.isEmpty else { throw SystemFailure(ENOENT) }
            guard !path.hasSuffix("/") else { throw SystemFailure(EISDIR) }
            let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            name = url.lastPathComponent
            folder = url.deletingLastPathComponent().resolvingSymlinksInPath().path
            guard let status = FileStatus(at: folder) else { throw SystemFailure(ENOENT) }
            guard status.isFolder else { throw SystemFailure(ENOTDIR) }
        }
    }
#endif
