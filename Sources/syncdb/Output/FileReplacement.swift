import Foundation
import Sync

/// Gives a file new bytes.
///
/// They are moved into its place where that loses nothing: a process that is killed then leaves either the old bytes or the
/// new. Else, as where the file has other names, they are written over the old ones once there is room for all of them.
struct FileReplacement {
    private let path: String
    private let status: FileStatus?

    /// - Parameter status: Of the file that is there; nil if there is none.
    init(of path: String, _ status: FileStatus?) {
        self.path = path
        self.status = status
    }

    /// - Parameter draft: The file with the new bytes, which may be gone afterwards.
    /// - Throws: ``SystemFailure``.
    func put(_ draft: String) throws {
        if let status, !canStandFor(status, draft) { return try overwrite(with: draft) }
        if rename(draft, path) == 0 { return }
        // It may be on another file system, or be one itself.
        guard status != nil, [EXDEV, EBUSY, EACCES, EPERM].contains(errno) else { throw SystemFailure() }
        try overwrite(with: draft)
    }

    /// Makes the draft such a file as is there, if it can be.
    private func canStandFor(_ status: FileStatus, _ draft: String) -> Bool {
        guard status.linkCount == 1, !hasAttributes, let made = FileStatus(at: draft) else { return false }
        if (made.owner, made.group) != (status.owner, status.group), chown(draft, status.owner, status.group) != 0 {
            return false
        }
        guard chmod(draft, mode_t(status.permissions)) == 0, let made = FileStatus(at: draft) else { return false }
        return (made.owner, made.group, made.permissions) == (status.owner, status.group, status.permissions)
    }

    /// Whether more is known of the file than its mode: rights of single users, labels. The system itself labels new files.
    private var hasAttributes: Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let extended = attributes?[FileAttributeKey(rawValue: "NSFileExtendedAttributes")] as? [String: Any]
        return extended?.keys.contains { !$0.hasPrefix("security.") } ?? false
    }

    private func overwrite(with draft: String) throws {
        // Where the file system cannot keep room free, the C library has to read in order to do it.
        let descriptor = open(path, (access(path, R_OK) == 0 ? O_RDWR : O_WRONLY) | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure() }
        defer { close(descriptor) }
        guard let old = FileStatus(descriptor: descriptor), let new = FileStatus(at: draft) else {
            throw SystemFailure()
        }
        let failure = FileCopy.reserve(new.size, in: descriptor)
        guard failure == 0 else {
            ftruncate(descriptor, off_t(old.size))
            throw SystemFailure(failure)
        }
        try FileCopy.copy(draft, into: descriptor)
        guard ftruncate(descriptor, off_t(new.size)) == 0 else { throw SystemFailure() }
        fsync(descriptor)
    }
}
