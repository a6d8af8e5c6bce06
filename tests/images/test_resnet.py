import pytest
import torch

from spadework.images.resnet import ResNet18


def test_it_has_the_published_number_of_parameters():
    head = 1_000 * 512 + 1_000
    published = 11_689_512
    n_weights = sum(weight.numel() for weight in ResNet18().parameters())
    assert n_weights + head == published


def test_its_weights_have_the_names_and_shapes_of_torchvision():
    state = ResNet18().state_dict()
    assert len(state) == 120
    shapes = {
        "conv1.weight": (64, 3, 7, 7),
        "bn1.running_var": (64,),
        "layer1.1.conv2.weight": (64, 64, 3, 3),
        "layer2.0.downsample.0.weight": (128, 64, 1, 1),
        "layer2.0.downsample.1.num_batches_tracked": (),
        "layer4.1.bn2.bias": (512,),
    }
    assert {name: tuple(state[name].shape) for name in shapes} == shapes


@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 96)])
def test_the_code_is_the_mean_of_the_last_feature_map(height, width):
    network = ResNet18().eval()
    images = torch.rand(2, 3, height, width)
    with torch.no_grad():
        features, code = network.feature_map(images), network(images)
    assert features.shape == (2, 512, height // 32, width // 32)
    torch.testing.assert_close(code, features.mean(dim=(2, 3)))
