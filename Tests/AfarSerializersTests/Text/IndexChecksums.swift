// swift-format-ignore-file
// Made by Tests/EncodingTables/generate.swift from the indexes of https://encoding.spec.whatwg.org.

enum IndexChecksums {
    /// The length of each index and a checksum: FNV-1a of its code points, each as four bytes in little-endian order.
    /// Missing code points are 0.
    static let all: [String: (length: Int, checksum: UInt64)] = [
        "big5": (19782, 0x770B6FA0631178DF),
        "euc-kr": (23940, 0xB4FC3F13C6ABF5FA),
        "gb18030": (23940, 0x1D93F96466693822),
        "jis0208": (11280, 0xDE920A8ABA38E688),
        "jis0212": (8836, 0x5B56479163FD7636),
        "ibm866": (128, 0x96319DCF1D929585),
        "iso-8859-10": (128, 0x233BDB423408493B),
        "iso-8859-13": (128, 0x3A4F3B5B04C42A4A),
        "iso-8859-14": (128, 0x75B35CF60953A41F),
        "iso-8859-15": (128, 0xEC2DF6E172F1BED8),
        "iso-8859-16": (128, 0x5FAEACFF2300A1EC),
        "iso-8859-2": (128, 0x15DD93976FE998CA),
        "iso-8859-3": (128, 0x70AF575411232B5B),
        "iso-8859-4": (128, 0xF0B5D36AAB27B23C),
        "iso-8859-5": (128, 0xAC92A43EB69C8F9A),
        "iso-8859-6": (128, 0x4C63DBAA37209F88),
        "iso-8859-7": (128, 0xFC9E6C45312DBCA0),
        "iso-8859-8": (128, 0xD8F178D62489403D),
        "koi8-r": (128, 0x79B9C995AC090B16),
        "koi8-u": (128, 0x3AC9F3805AE4EFB6),
        "macintosh": (128, 0x7EBECF5C3A3C57AD),
        "windows-1250": (128, 0xDAF793815160EE8),
        "windows-1251": (128, 0x729B349AC32A31B7),
        "windows-1252": (128, 0x3C481CA49EEFFB78),
        "windows-1253": (128, 0x8BA9E7CEF4DB781D),
        "windows-1254": (128, 0x8CF2CBAACFA5B91E),
        "windows-1255": (128, 0x68A3F6F4FD14BAAB),
        "windows-1256": (128, 0xEA1CE6FBD2270C30),
        "windows-1257": (128, 0xC987E830DA111689),
        "windows-1258": (128, 0x868C3EFE3FDD4D6A),
        "windows-874": (128, 0xE4DD3C5BCFA817D5),
        "x-mac-cyrillic": (128, 0xE4A36C3EC0BAB6CB),
    ]
}
