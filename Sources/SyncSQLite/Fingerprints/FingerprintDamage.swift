import Foundation
import GRDB
import SyncCore

/// Thrown where what a store keeps for its fingerprints is not as it was written: they are made anew.
struct FingerprintDamage: LocalizedError {
    let reason: String
    var errorDescription: String? { "the store's fingerprints are damaged: \(reason)" }

    /// Runs what reads or writes those tables. A table or column that is not there, or holds what it cannot, is damage;
    /// a full disk or an interruption is not.
    static func mapped<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as DatabaseError where isDamage(error.resultCode) {
            throw FingerprintDamage(reason: error.message ?? "they cannot be read")
        } catch is DecodingError {
            throw FingerprintDamage(reason: "they cannot be read")
        } catch is RowDecodingError {
            throw FingerprintDamage(reason: "they cannot be read")
        }
    }

    /// A remark for the result: nothing is lost but time.
    func diagnostic(of entity: String) -> SyncResult.Diagnostic {
        SyncResult.Diagnostic(
            .fingerprintsDamaged, entity: entity, path: "",
            message: "the store's fingerprints are damaged (\(reason)): every record was read, and they are made anew")
    }

    private static func isDamage(_ code: ResultCode) -> Bool {
        [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA].contains(code)
    }
}
