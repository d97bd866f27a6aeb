#if os(Windows) || SYNC_FOUNDATION_FILES
    import Foundation

    extension FileStatus {
        /// The file at a path; nil if there is none, or it cannot be looked at.
        ///
        /// - Parameter followingLinks: Whether a symbolic link stands for what it leads to.
        package init?(at path: String, followingLinks: Bool = true) {
            let path = followingLinks ? URL(fileURLWithPath: path).resolvingSymlinksInPath().path : path
            guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
            func number(_ key: FileAttributeKey) -> UInt64 { (found[key] as? NSNumber)?.uint64Value ?? 0 }
            identity = Identity(device: number(.systemNumber), number: number(.systemFileNumber))
            size = Int(truncatingIfNeeded: number(.size))
            linkCount = Int(truncatingIfNeeded: number(.referenceCount))
            owner = UInt32(truncatingIfNeeded: number(.ownerAccountID))
            group = UInt32(truncatingIfNeeded: number(.groupOwnerAccountID))
            permissions = UInt32(truncatingIfNeeded: number(.posixPermissions))
            let seconds = (found[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
            modified = [Int(truncatingIfNeeded: seconds.bitPattern)]
            kind =
                switch found[.type] as? FileAttributeType {
                case .typeRegular: .regular
                case .typeDirectory: .folder
                case .typeBlockSpecial: .blockDevice
                default: .other
                }
        }

        /// Why this user may not write to what is at a path; nil if that is allowed.
        static func refusal(toWrite path: String) -> SystemFailure? {
            FileManager.default.isWritableFile(atPath: path) ? nil : SystemFailure(EACCES)
        }
    }
#endif
