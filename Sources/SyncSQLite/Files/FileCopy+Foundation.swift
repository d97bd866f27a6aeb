#if os(Windows) || SYNC_FOUNDATION_FILES
    import Foundation

    /// Copies bytes from file to file.
    package enum FileCopy {
        /// Copies a file to one that is not there yet.
        ///
        /// - Throws: ``SystemFailure``.
        package static func copy(_ source: String, toNew target: String) throws {
            try SystemFailure.mapping { try FileManager.default.copyItem(atPath: source, toPath: target) }
        }

        /// Gives a file another place, where nothing may be.
        ///
        /// - Throws: ``SystemFailure``, `EEXIST` if something is there.
        static func move(_ source: String, toNew target: String) throws {
            try SystemFailure.mapping { try FileManager.default.moveItem(atPath: source, toPath: target) }
        }
    }
#endif
