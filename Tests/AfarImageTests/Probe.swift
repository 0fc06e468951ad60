import AfarImage
import Testing
