import Foundation

/// Finds scenario files.
enum ScenarioFiles {
    /// The file itself, or the JSON files of a folder at any depth, in path order.
    ///
    /// A folder with a folder `cases` keeps models and payloads next to it, so that only `cases` is read.
    static func files(at path: URL) throws(ScenarioError) -> [URL] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isFolder) else {
            throw ScenarioError("there is no such file or folder")
        }
        guard isFolder.boolValue else { return [path] }
        let cases = path.appendingPathComponent("cases")
        if FileManager.default.fileExists(atPath: cases.path, isDirectory: &isFolder), isFolder.boolValue {
            return try files(at: cases)
        }
        guard let walk = FileManager.default.enumerator(at: path, includingPropertiesForKeys: nil) else {
            throw ScenarioError("cannot list the folder")
        }
        let files = walk.compactMap { $0 as? URL }.filter { $0.pathExtension == "json" }
        guard !files.isEmpty else { throw ScenarioError("the folder has no scenario files") }
        return files.sorted { $0.path < $1.path }
    }
}
