import Foundation

extension URL {
    /// The file that a path names on the command line.
    ///
    /// Foundation shortens a relative path: `link/../model.json` becomes `model.json`, which is another file where a link
    /// leads to another folder. What is checked and what is read must be one file.
    init(argument path: String) {
        let isShortened = path.utf8.first != UInt8(ascii: "/") && path.contains("..")
        self.init(fileURLWithPath: isShortened ? FileManager.default.currentDirectoryPath + "/" + path : path)
    }
}
